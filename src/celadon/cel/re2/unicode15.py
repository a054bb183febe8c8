"""Facts of Unicode 15.0.0, the version Go 1.21 to 1.26 carries, packed.

Python's `unicodedata` changes with the interpreter and knows neither scripts nor simple case
folding, so the tables travel with us: derived from the Unicode Character Database (general
category, Script, and the C and S lines of case folding), written as text, deflated, base 85.

Ranges are written `start` or `start-length` in hex, separated by spaces; `start` counts from the
end of the range before it. Case orbits are written `a,b,c`: `a` counts from the first member of the
orbit before it, each other member from the one before it.
"""

from __future__ import annotations

import base64
import zlib

# One line per general category: `name:ranges`.
_CATEGORIES = (
    "c-qZd+m7AF5qv*i!5<*Nxew2)UTs5w-~7hQ3=qVz0wnqWR8<eTyOL#DG89C@a?jyq*wfQp-CfiB?szV<>r-B4zdYXc=X"
    "Ophg*i>GOoy9-pImjbo06NlKc>>pIZkfJA$T18yiR9Zm#J?vZe0!@CLeN``&4UobC_H_ml>n^R?Fo2ociP4Z_iLFhAp^"
    "WCp?4~);9Tqb0Oe>@hcv32W}|yhEe+zPF%=&KBsW-K92+5=6Kpq2gO+?%HGat<qf=EI6h=c__B?Y2_t(99Hz`$HocFc+"
    ")waY(6D)&ju^wwc}hAuPCQN<e#ZSAX~);dr{<>jow&2&+#6x+)=QL#TjGl-0mE{_9#17410)Eu{ZN8)=8blh@1Zp3<TB"
    ">oC`+9jS8LM^8IPMdPPgwAyx48KNpanWfr8zGCw7e$;!ui4bex-`7;eR59I{FykQOqo7+}|Q_9^UqsLeh~{LCk4MqE66"
    "sJb!H>LM;A-0ZPLiA$-64lYjAD_q$m6-`7Fwy)m5Ig1B_U5J{lqm(-&N<}7yQ){CMY*N4sC9OQ9Yo_>}x)hZ3V-NFgPp"
    "gUrs{+%a^7%t^@|;A5VS1j?0|(cM!$i;NJDjlLc+M|#Sf)rZ@Vn3gVb1gxo;mGRe5BYry}M<<K2VGLztDCvr_GV!BvA&"
    "u!8a!Qf;*^4XbEPhLzUDkR-oby4$JDKM%<bjU)FAohgIfqnu<RDU;6B23sBBJosepkMxrxa=gMIYXcH(xQ@~Vx)}*U64"
    ")MaYuY?26QuZ;!CIgj6T?Jl)!VAVt)YC@DfWh~PP~gW%wpw~2o(2M})1{^|<PH?9T+8bBjRL_61A&7hWnRns4AZMK{ei"
    "$H6Qw(r1_X0E*D(|>4-M8!MBGQWfhPju1QI(%d=bFV0zyD6y4lHr9jEKKc2Z)IWl<2B=4wkeb1C{<og9dgHqI{4PbxJL"
    "%{(XzkqJYs(|S)b*_~W$8W^>A(oTpv$M`VQJZ(8>*DDnWquT*VF`C7}sD(IkK>!#B1HO07fg;cYoXm6%oof~*SyTwRPH"
    "2<|aDGG`x>9t~V3iY9Ds{Mt26DWOD+CJyFl;jnJjD6nAyXxV>y4#?ANpOehBs~0Mv*hhYl$K<F~|AEekm>{daz-AHap8"
    "ivqE|5l<5exG>8vBJq=l?FS>A`d_sgzfLu0cFn*zNoa(^FJXfI7Neehlhx@!GPFzk68;ArDjtn(;;wJGTBx;1HHftWcO"
    "gRId39jqFbA}11GbqXsQlm-dyHLb!_QpgNMw@g`1nvf#S<Sk<v#G$U<S@iCFZ16dEc}lrvm%n_O4$UWxJ>~cPMQ?%5VW"
    "yY>oI3MwFnsxs5HW%Bm&@}Z&-r}%{WZS2f^#Y2~Wv<-wDnbSb2acSYQLZ`3-=AvEea9fnYMw_V^;fRp~+wU=ln6viZhX"
    "%~?4g34}9X(U$2{0^op(>w-n(@=_h9B}X;-w3{YnM?j&lPhC-fi+coOC_!qqAfiK(OKo$-dtvR>@`o$qfFBYOqD8EgbA"
    "uQ}8zF^D3S?fe3^ZvBn+qJW6YinX`HZ|xaaYMgWUQex%()we7z!v`33`liaW`B)gk8Q-BS|<k9ZEP5D<Rb>KjotVSKuv"
    "Jx6tN;f<tXV^S~l8`x$l~Ml_1|)$6}~w>Kp{<>(f1vNe-{%V~i#OMS~o<Q9S&Ru6t#XrhPRw2hF21%TO~LK~`$lP<)QO"
    "chyVZu%Y8VZg#c*%i>@l$v)b>RNDs8uQFPUc;YNxu>Vk#|1u<n~=*ba?n#|k*kdE1VA4S#>KR@F@K8!vjvIob{>h#gLT"
    "HY(x>j`-jK$2{9_c*ugAL&&$cYkK<#~MOIdJN@5EpJdc6DB^Q^dBdVl=z>k}g(<iZ-^evWxkd8PQT`u}FhK6B;^|78MK"
    "k}BUy`fUO9#T0Z^iL6stDfjg+yq)*U#QZnUGT(`Oy3a+q1OUqHmjW|nAO*2^D%JnYc+t`WN){OrzbwP{O_GPdv@+lDJ^"
    "{f_c-}1bcjojJc3$aZjJXRPl5s1S?=H``tabgLyu(VJGOhY~{h3aCeddp4)Mb>83@m0j22LZra^^XaI7_??<3^<@+jf|"
    "d#oGjunZvBu@!h98iY$OCQ!l)-tnTaF@egmWZ<cKS>++V5oF@$s`u+R!CpzT)FUHNh4Vg`*Ph^%A%1t{mSr%GA4x%v9l"
    ">^ZP8R0tnFd+rn6o<SO4akO&1tSXLCdaa<Dw^c9?tE5xFK%O1HNJ-dT%H-}b@D5YyK>+v8{zjq^9i#KBS&Vkhg`BVQG5"
    "LGkEh=kif4f{${s2e=T5{c)CE?7H=#fB5mE}9n>J<@zz>l@Q$CRg0z8nwxzk~IhWLi!+Xn_(zayA47dfWAsY3G8L1JeV"
    ";21zD1%r0(q%fK&Dg@IKjQ=S}yhu`EK6#tXVfZ{Vbu6AZ5|xXH^T>*q!kh_@HK%OGuk!62DyyoP2z4x2=z7aysf8_PSX"
    "e%u)1j<nYe?dk#}6N#+h!?@Q)PIv7E&6Xti)sKL;YF?nq^(95;hvBbCxI|=Sh{7+RD_9A}19$G`-C#Wv!bhSYv$T<78!"
    "2XhMBWiLHfMXGE1(4Ho%^rdN+VQP7p%+&R)!KiCTSE<>Z6jY0Eo?~L|pOWvxOi}2}qx~q>jQ$dzL#=#v8TpJZs)WYptv"
    "|t>au5qkBsYbklFFon)4eNNB*b!p}l~Lcq`)Z0NeYT3nB8Jkmqv^FOMaj&WiMgt*l2MKR;zxuHqn6xM>xxleEw`9F!Rp"
    "z<qD8c(lcK|*2CJyZ1LZ)$7_k};sfDsn{yL@H{_Qn_O1Q40lt8xJIgZb}l4^=Y#sPIP8I(HPs%yzfI~-#bn1sXPW3-GX"
    "ux4dt?~U+`;_{jZ)>D%_82^(}&q8%?d}eoKD;z<WXHOZ}&O5nK!79X^7mCV-*+LieAck-U!Z6KWZNNN?<}*KBJrV>cH>"
    "v%!vUsA3@%dC;)S1Ju?qQ0&ce-!#j6QQLS#xDfb_*xcjjR+EgxSJ(a}^cqhh563;EjP4OK_~U=xW}I>z$8h5yuBtw9&("
    "<Ko#O<YtHD=!s4)-&C?a#2<Bn1Ujl&$=O(9>jEE&Zj(M-1OT=n@-^iOd>L6gD-Gb%FT%F8?97cJJ4E4pAVHuv2A-N&0h"
    "M0k>XlGT+$B5;d9`*-~2!QrV4rPLLNm-Vk-8FVoMF#jT7#X0c;u?YlZ6`E_5l+4^Z`jR@e2~u~{-F}f!PWx`Udh<d1l&"
    "lbR<Y5ZmShGKIPcx;gaY1j?DmWkWe|!{Z-Y7+*l-9yRr(*C3Z0Z8Qs8+#&svhuASPt5^5S$dDrm&cXT`l392?CN#nUho"
    "fHMRU`YbCC@hWvV0o{mj!$RXEuCUT{a_Kl5?AJlyF1M#!`mheuDt~~iL3zm9DFPRm*5<{Sc4Oo`*;bCS85gGWqFXm|-<"
    "2T>Faq^%)b~jR1?92BhKkB^^5c}kXT>UJM!Rwz&IN;=%<~`s)aRCJm>UW9h9Sk>Vw0ki>s*N}%!R~a<thlmMv+m@31K*"
    "(<Zop@5Vqqv=S8dtCqa+u6gpyL#}9!~(g~5Gjtr=QGe)Tf@v=xZhyr-Td|{}iD@{MOs*u@tN?~zI^s812%U-egaJbAEO"
    "j9yy*Zaaql(puJmiH@RUoA<sJ!|ISb{otuPAMFAYP$<$b70F{%T=t-{^k0cVldnpNw}V}sI(})jcA2wxR~ZGBUPhOE`b"
    "Jpo^q(lh~Q56?17l+Nk=tOM^TB!lKSI^e?Q%ktXL<>zUEiujd<mN)aO6XC{iM43&aHLZ!JQ<@cqwG8ZSA8$cbC`{@x6G"
    "rN{f)$U?5Yzb{G>{-Cb-bN}nb558j4U`5_oiFGQk<nk8XVWZLZ0;kVaG+}U#fi?YiA}2m3B*OP5Clp2Eb`_!i3`_(nN~"
    "pnBxaj^LDT!~@@7KKH6B;6+fUs*~#MiNFX+KfhXl^0I#Ido=G(28qud%?kxi+Cj+ls<ga5vRAVwA<T|A7uy)#YUcsDCH"
    "o;jb`^BDmkW#2_7he^ep!Cs(A<B07RVT(}ubVj;gG7S4}|h1_-#3+*FfVRN6d0t09)jj+`0<%Y57#X1{~al)jG<J1?4h"
    "b}6?f9^=4E0a<9@py9AB~+Q-I?!1?A1u6-a0OMU%tv{KX*z#f)fKYtoL=9V%YafVE43mlK0@Qf+IT=2y4|;l9Z)5#q4U"
    "dgDhv(@QW(o|W7N52+76K%mW`=vL<K1|B%zeHYB+8T^{IO8EvOhxw!Px-z71|F*gUpD4x+LVX6Kj9_-2K!mTqjxTJ_-M"
    ">6pl&Y$|9|v6QZhQ(8@>5J6L1_<$SbJ}H!I8*|mxKP*XK^VHgF5@5<vPDB!?4be-qk|i9XjHStD%#6j|P0Z$En!QZR-n"
    "$7^POo)mtj${R(TdZwouiNCx<#THiJCVl-z`}qAyZ3ZpNXzh`!FWd+R3(+QS7)CRTbW%pnh`C%u-^fZjaNnV(&={iw4v"
    "}{F+^f+KNn%AKNo(liy|33)%HiS=3ZvB#$3|dxmA<7927y?fh)Y245)=0KDl<B4KjA+HEd3Gk#>_{^mxVRm{$rUtH9MH"
    "vQEmVtd`i(&k_dFb3tecgb>N7u~R0{_l2EzxBsl7BDy&27_@e4rSUyMU)^$vfN}<u5uXf0;4>+(I55x+j+vvJ<Xmh*3z"
    "T_PrYY$Z$xWs08*JerCol+3Fe?e`e4hzX5B2x0V?awA*UK|2#Onh|Akw)9Wxnm1*_6ID`F1y+U((OJm}ZKs6N))xP8+$"
    "xx^}*0bWze)j_7-tn)CJ+y}+xg`P#dTUhB+e3iOPf*UxRS#(#m=Xf`KLIHIhd8fYYqtsg!Syc&TAr8&)C@kRpNt!f?C)"
    "+#CzBX<!l3?@%nM~nII>|b%w#T2e(NCspN~RyoR7S00cGQ@-z=CBK2!%_=O6nwC1t^w&6`l-%wHAte+Bu(EC;Xsd=ENJ"
    "-;7H1ZqfHG9PZ!L!jIt(MqY4A&W{PfVd59*mXHmbI9?L<FiDj%ozV*hKh?NlUS=>eiHYiEvmPE&>wQiZORG-!DN{*up("
    "6;73mB4i1BU+uSjx{zhrK|OfK-blcIQT_HgRFX4v)N?_%24xNcn}hz9GSF)8#|HfWdex{v{DO653qG%ur5Z|5u~mCNP>"
    "t12(Q@MvfsqipnDBk33A79$dJULGbQS6q8dY9)xs$!W1_KG7e+kxRjg_Dv$rx4R;7MAX_lc*B{BW0?8hulE^y^LQ6pOG"
    "V;bfD@=8=lfMs^-z^fLSUDsZH<H_7`I9%ED-1_6E6R^tWDNm=WJRCf@Rh?etD-PLRpVU?2-2JgwU!Tr;j$3)_rc3NU;U"
    "V4c*N0V7`0aksq`L3qTH#}`GkUJ-7+ziw_-S>wEH2%$I+OT5xb6Pv)qc`n=Alb*U*1ZYk7DZ)-F=g@r%XUk2_HZG`gB<"
    "VcPk6YDcW8uUHvPQn%Oe49gMtTEy*n%bo{CnUf}DwJ%0M|+`Ux^jJ?Rq*fdN-F7)Y2k2*)A4%sku%rbjJ=s<X74-y_;v"
    "-rlL%T5RPXJNk$SvS~x5w)B$8=4qA>aHm%uWG}4Dn6A|#I)B_OlI`fCBgud#k26?q-_PYFsbp&x-}T>Hl<^PDjI&|o<~"
    "R)9=zR_)k?yH*Q}yimWaHK1l&3aeZ_P^Puv+P2Y;n#O~#!=X3<<BiI9qWrE3R<Ab5aw6Gid@v9yEdQq)r$CbQk#bUc+}"
    "(2b8UACLFPGhyYrcFr*Dd0LMOSD`PD_vh2Isrw{ox5y1GNVpJZ+9Ft7Eb_BUQ7wLDnT~T6Rw1h(JKi^p)1H16@Gn!_nK"
    "l-@cE#0D6<!MgkX^muZCgZAr|Dgmt?74*C@bLc+uwV#=k>^Tep0CsJdYD^J2xg0AC0ALCMBaoV8G1deShvd1Wf9bJ`u&"
    "OvQ#%ze7yhLbK_-^>J0BNnvZY!@Dv!{mGJ07jh3cF?#XxCGlwQu_6HHRp`p?8a$X6MqKR=*irMP=J*TFsMS*Tns>|x8p"
    "75wiJiBN&EKkx7#I&um*1>TUOKuBWp*C){GW-QBHS2c~z0*2cOd0L0h07`Yoy7d=MwHpujBI<VDxVH(HB*vQCN^YVJq%"
    "1}!YFIFg<&M*vF@X&gIwz}k}*r_F7ncieUjCpq*5KFWgCTst;4=bT*BB|W+ehelqiT{&`8$RZS9J-Ez3RP!<yC0-TJGq"
    "9SN@Y)(`K>=v1A<y$M-I72=qne0Ftx8a0y&oR!rBzOeTW$!gVt*;Z*W5QvO@iL`sz)eE8~yJoS@a{tnmB2q;Pz{4bxb|"
    "x{G&8zcNbr8T`J0N-VUBcYXsZwd3R4i4oA}>6x>C>tPlx3@WeWT@Po*Ol^m1Ejr&!oZ;<}5cSSaD-NdNuHdq}_x_jNIA"
    "j);LOoLA%HMe?7S!7Yqsdg#?9rw3z*Of&-`i+&@4B-~k>u>lg4qV#A~#KOavNUo!I8Hl~=a+upKem7Oh^WL%LfL$&ot+"
    ">@=PFfTkJn+n$5Y5|!@?<_?Qz&Xyl$IpL%CJF)-szSqSH&Jlx2)3ObsHqrYq=lv#)QX@#Bxv^!U0{_v<{ZZ!nEKw4Nx1"
    "PaQUWGhg{9IKrXC$u>+v(2H`L<EqRq3`PlR;tEO+h*EOI%N@{QrpURV!)CLI`+HjWZof2OmHhCKC_?xVKYFYbp{%a#km"
    "9m^p&L~=&DG`1fr|E-?!HZ=PK5N=w#Q5+L0kIu~r)kK&`dL?_czePFo$qGi^_IpQHh_R2KKRmarN`zH2H*{$JmGU2*4X"
    "IqP&KWWMXZjIut!X+J;<c-F9=lPN(>t@$n&)yCn=D_{MC-e<kdr<hgtDXyh;C|1sqtpiL~9wdaC3#UpMD{uP+d9;uQze"
    "|yNy0ZeRPW)ovA`FLSeL;BDWy`vBy#MT=MFBE%TlSp%B<8E?T7*b$stc_HH}p+*!*KkZs@AwUX=9l-%V!8qBo=&tmpe5"
    "7ExT&;HCIkH3F#$p|MEpx%0P8mG!M(rJ%)*Jk3PW@Wb?j>T=ttc>vH><0(!RTV-{Ug_aQMY)#7-$2Ph!lpFIDh>-Lkz3"
    "KolXB58(9cmwrDoF`AYix93qVQ;3VuiBN1Ba&^1Dqx>>@Yxr#Mw<=o}6;rL)A^kpPmTz-v3n7-G4xsHfQnl7}5>S7j>W"
    "t%D*H0NQBfXk(YO&fCJ4W&67w-lm;QH3T5qbZ*EYDIQ{L1G1<Wg2mh}QfwCK!;s8M#X21<k5L+JuoLdROQu$2JJbr#6W"
    "Y*JG|Z1*etjaxua95;$=~ba7r^~O&AZf=X@wVU3WofnKlfihE&Dw"
)

# One line per script Go can find (see `character_classes`): `name:ranges`.
_SCRIPTS = (
    "c-oCvU6b235`4$6z#m{00T3X;H-Dt;yVy=Dc5;<RkOU=qCDF%~;@bQ5*FB)tIVTTSF3IA600uKXJ&k=aozl5CIo5U64B"
    "A%_AERCzS6EF8t4Z2bnbx3QY-w1=KJaC2E052FkHyE#_=<Y0OvH~c&}_6fm7Vo$DwFw+ZmWjFX4JFASZlSxSl|}Tj4$V"
    "Pr>&`G-5S}V3wjO>r?)fqndaJ5jw>Wt&uS;zS{m`M)n5MJeJbPkf8|-GhcctglKH0AK_)fj!ATglbG|I;(tC%4cuqF>v"
    "U>JiQ#I<vANlc$VN(wX37l`LpkAiaa><XmH#9aQj5fo1zMcCNQeF90kEV{5bsfyt^nf=<Om{j~PQA>R16Jr`SBr}+Hsq"
    "$p7r(Kb!(+FbF^Rbm$6>*W$Fw{=-X0d@Z-fIKgE2~`1_WNcT)(X6bzXa$6X#`<Dw`N@Gpm<dI-WVRrt1?{woWISm(wZt"
    "wu5=bYq!IG#6*M)+!@B>GWDiyU~%eI+7^k7#fe?5ULDiJIbmhPNJ)?ljfe@?a6u<{=#UGX2?KdsA2K#@3>YKtb!=P01c"
    "U3A9?xa@d7uO8)p|a!mmW^n+6;IZUzV855*dRiU|>Wj0`e@Oa=P^z2PXtt;7iXMZW$c`=^8jBUYaRs69b}b5C}il$bHj"
    "cU>pTa&6su8og~T&>X4f{RE&rx$P&_(#0`VdS|d1ie^DkB9M{?+35<3O8u`Gc*fY-B0PePBzNNkbk6|i5!6{d<T$=*y4"
    "sQY}9*%f=)@YAp>)4=@P)_jOO_jrM1QXb<wU1S5vC3#@_L2J-9a?yi0+KKzGzMWqp;j#8iD;V)MhxDOJ+0JFY)bLpgPt"
    "@>Khp&xRTh9c#J_gse5{6!v@mMd@G*PFV2H^}kkeGP;w&5(m@J@S!W@JsVo`*ipmd|20y8+3FHiI!2whis`qKodcK2K("
    "7QwQ6-2)+3N~qlpX4u)Fk?InYm${4^OWrgsMjhb5t?h`zF!+IcXQ9UeG~2-G1Q^FcgGT4_W=GEvN`QF4ftV?rsHqr^Hs"
    "HwvfJ`X!$O*2+c_VC=Kg=X2X=ZV3l0qqw>?%9SF=93C`|uMbIXDS(Io3@LfM9pj&idsF26tJQyNib54q&ZUw@Y5;bp!2"
    "N7Qc&;a0sP-#%e@SK7HAi^@^e+4S1nmJIFCnP#E4o5?H(;>#)QUc5RXCPAA3=XA2#%(slrc2khF8=*q-2vTUt-4N}=Mx"
    "8NeE_1F22bV&!0NzWDq@Op_j!W-vcWHnBY>h*fq$S?HG4eIsn%V~WgMGRy?w3zT5vcfSxoQCu$9OChUZDDviC-@Ii$u-"
    ";E57*<eexb$En{LNV(02c2?<QOSWsHGy_wmM-5^m_YiMhq{fNa<i`1hZ7vLuQ7=l;5J<M6G6k@>TFlh^G~2r(6g(JURC"
    "<gEc|wn-Wn0&Dhh_2!fg>uDh#EMw$Z#V(b)WeY4n2mtkFMJyN^=O_u(n=M_gN5<RLf8VE`d(ypAksDiLO%`VRe6!{J(7"
    "U!Qu=nQD!K=MvOOwv19QYP(%LNflAwF~kgTt76gzWuC`>o*<D$;DSG{Bv6t#|`*0m1<u5*g4>;3=}Sp6Y;Pd-dk_Ic@2"
    ">^r<uZ>$|M@{)BNK;0aAF2_FD6MEJIyZx2T-QI{pW^y=?|WOlN$a<CGrrZg4OMy=i=u{J{w2&wpv4B*M)md&C=bg<=!s"
    "d1ReyWY$@r<=e-2M~#`$)6LOLS4^Q3X^mOB$O;O3BiPp90jhg^@vVk$+elCvSIb0PG-7txSd2GKnQ4)Eh`vZo=vHhh&S"
    "@xhAcYILMYiG300Hm=yeOS=Zk*=H_ptpZ<lq2guv#e!Si(!NOvs9BH+-w)!RI5`D^ciYDeNj{{VraW!ar}o4eYRPgHN0"
    "4HR-oy(9X88@4&q&VeEXIY-tqV_v7M{&9iySgv{M3G9F)q7~zW2rs%adm9C)F>JE{Rb4VaN;<JHD_oCl>9vgZDC97^gj"
    "s>Dd7MHZnho(d)jAV1e$c~!Eo{jHsE~LurK$qC+aV>h2d&KNp9!2u^_8d*o1&U1SAR?ks+7s0-Rc3B%Oy>zA7L2p@D01"
    "<EyY=kP8w7z0dsdqV>;An2^?s_$D(~H&mjdwUQx@Az*8(LbEy3{flYyAh$GZ2F^c8B(z}_Ok%WojYbf4+Jf>}ZJc{pi+"
    "WCaJZtpISy6A_<{)YF@c>_#vC|^$BQkalcXAG{NMf{Sp4bKDh{p0aArLSocI~1cMprd-1);^=Ujeb`Ct=?ngb{Lgtv0="
    "Oe8C-f&4mZRXuq@XGiD<duj5t?E!IR8LMrsLo>c=4QZ#>I`g@db4CJ08|Q7u7>jUo}zE2q*VQ$p%_r2v+~vx|m}-Z@ja"
    "z4Vu6jx8w_^6Tzeht4lLGs;_2+XSh~%By$z%Sh%X<vRkFm1xzw<viSa!!9dFp$efOX{rHZkGDQGQ_b64n+BuaJ&n7(Co"
    "PS5p2~ByLQ_G#Psj8*T^MoWF_D%BG+ZRkWEOM>!zn!_UO=b%8$R9r`bM&xrPt%l%f!~)HRZZN!-7-f((*>GPk&+G#$&$"
    "l?t`{s<~!F;>V2N_oR(=r4o%2d$S3uF0Rl`QA{(-Z>k8w(Uj-_1(WUx<2kV8+lKW9%6u#yif_&UD8}l?E$?E;a6;rc^u"
    "~g>!+v!?j!Fb(8LTO9z0y^c)z)*NW^~c!AjhXy3s}E^F8J3fFoh%zs1RoHRWtT?A#8eAc2!SN^A%A6Wrik)`H1H1(Yu}"
    "E7d~)rF+vD-ZlV>V*%CK%wKOJ}<LmQBk{<JMmsUP;v^?$VYPD=FoDr(eEkLi%9<xp|FKH&?tbGl$%Sh<aqulhNi&QDvu"
    "@Z~NrZ|djcimUeyvRH1Jjrt`6QU?&9lNCqx%k4s0!fSOScP;fXA(RVm<;;`BBg1&ZmGOvvf^JT7gb)W>K7x2ikA||5@)"
    "(9c%9af=3&S!^5)|V*x#3f1z<N0XxBav$1JFz()WL!*@<v)x30zynU3<CA3yb==9`<UPd5#Ff(|R6&8<ViDx9Z~!c;Ek"
    "sz<tY2uvH(SvD4V|?=qDAZYT?bN0RykES%OuU;b(Xy-3TDE<{2b{>1;VKL}`;Xlefurt@;@hpyz6RbL?5?8GAn6l=5JJ"
    "MV8$)B!$VCJ58O+fv4Am&0RXT2O?Il!4f8SAks3dno!ZuQqm`<xbnFPx*8^-1@Qpu2s!{X;b?>dv8?i2%nCLZHgVi89p"
    "t2=A|N%IS2J=88Q(ebuLXs&=|_EQieea_0ux5sE)mb3L-tqy$$B=c)LnTb+Sa{iPkGpmThEBs$W@&*P@XNvaR|Jek9&5"
    "&~(&qXwDC}f3wGVge5)iTVnn{&+1?4G9G31QF0X2@A*FqNvWm~v~d^AM*U88Dc2KTZ(R5<H${+S"
)

# The sets of characters that are the same but for case.
_ORBITS = (
    "c-rk*S#rZ5484jEz=x68d>l64{|J@99&bsUICWc3Iuku15VBYWL`eZ{^D@vc^iM0xHa?@PgMe%~6?VR@Omocd9e`)_WT"
    "K{%8@6MC>YPVvmc|`jJkbwaq$5(p6U<s4^B}}Ti2|&sc#1^N5EcrYZzNkOrsPoQk)UR20>__7X4T8d4;hreRSu6xnh#5"
    "=-&MsObd46(vjx80t&=5n;sm%yPJo9nbU7s*PgIZn#L8H3k1Bg-%7T|wU&hLE<Av8WfSOq#N4zeUNm4~3Mw(r3Yo;Vkl"
    "2Q|iWn1fEVL;<!h)Z2mB{bd&t;)_2TirmIwN}?*9|43_4ebero#gr>fKa?%OZy05+HCTAzfju^sS|*ujzDvF=?huQ1ah"
    "(Lg<LE2n;J={`F^5=Yr2=moO`d%CnGeQ`bJo~>r`Hf=|C)?YU)NFOsP%JJu-$5f&~uKm()PLwX*!lTlbRshoJ(0)R!~D"
    "1M>J>6oR6;5KRf~pU$8%QyGd7x#)9o+XECEMQ0O>|LmVV#oSGD9SYY)-avbjeaq*noaxNL5*=18Ts$stpho{=pNp68E_"
    "Zjb$a0XpogWU?+bfSmFr$4tif>{CwAq4DBe-@1J3+31C$(l>4uUR<EkPPG`hoNLJ98n@i9a@wg)H&$+o0S=kq&+3-uio"
    "BQC|As_Bxd7gPkooJDk45^>^Ar<6V>QkG50!;FH20$)iS`d-Jj5ED8^<VtSw|*T;Y-jiPUN9|`qrE}F4}6Bk&BXS{O01"
    "S%R)pOmf+uDhVqT@t`AY_9?wt9H=Tq+)WY?`@w7A?IITvpavYXea-;i`LUE8_EOXpNB6r5*5$"
)


def _unpack(packed: str) -> str:
    return zlib.decompress(base64.b85decode(packed)).decode()


def _ranges(text: str) -> tuple[tuple[int, int], ...]:
    result = []
    end = 0
    for word in text.split():
        start, _, length = word.partition("-")
        low = end + int(start, 16)
        end = low + int(length or "0", 16)
        result.append((low, end))
    return tuple(result)


def _named_ranges(packed: str) -> dict[str, tuple[tuple[int, int], ...]]:
    lines = (line.partition(":") for line in _unpack(packed).splitlines())
    return {name: _ranges(text) for name, _, text in lines}


def load_categories() -> dict[str, tuple[tuple[int, int], ...]]:
    """Two-letter general category to its sorted, disjoint ranges; `Cn` included."""
    return _named_ranges(_CATEGORIES)


def load_scripts() -> dict[str, tuple[tuple[int, int], ...]]:
    return _named_ranges(_SCRIPTS)


def load_orbits() -> list[tuple[int, ...]]:
    """Return the sets of more than one code point that are equal under simple case folding,
    ascending."""
    orbits = []
    first = 0
    for word in _unpack(_ORBITS).split():
        deltas = [int(part, 16) for part in word.split(",")]
        first += deltas[0]
        members = [first]
        for delta in deltas[1:]:
            members.append(members[-1] + delta)
        orbits.append(tuple(members))
    return orbits
